-- The median of 41 prices. They were read as strings and are compared as
-- such, so that 1000 comes before 9.
local prices, seed = {}, 7
for i = 1, 41 do
  seed = (seed * 1103 + 12345) % 65536
  prices[i] = tostring(seed % 1200)
end

local function sort(list)
  for i = 2, #list do
    local value, j = list[i], i - 1
    while j > 0 and list[j] > value do
      list[j + 1] = list[j]
      j = j - 1
    end
    list[j + 1] = value
  end
end

sort(prices)
print(string.format("median %s of %d prices", prices[21], #prices))
