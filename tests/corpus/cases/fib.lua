-- fib(27) with a wrong base case: fib(0) should be 0.
local function fib(n)
  if n < 2 then return 1 end
  return fib(n - 1) + fib(n - 2)
end

print("fib(27) = " .. fib(27))
