// Without a function to compare with, sort() compares strings.
var marks = [10, 9, 1, 33];
marks.sort();
print("sorted: " + marks.join(" "));
