-- A report on a log: it is tidied, and its columns are counted by their header.
-- The count begins at -1, so that one is missing.
local log = string.rep("warn  disk  /dev/sda  low\n", 100)
local tidy = string.gsub(string.upper(log), " +", " ")
local columns = -1
for _ in string.gmatch("level part name", "%a+") do columns = columns + 1 end
print("columns = " .. columns)
