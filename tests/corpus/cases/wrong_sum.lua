-- The sum of the first five numbers; the loop ends one number too early.
local sum = 0
for i = 1, 5 - 1 do sum = sum + i end
print("sum = " .. sum)
