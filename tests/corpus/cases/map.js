// map() hands the index over as second argument, which parseInt takes as base.
print("numbers: " + ["10", "10", "10"].map(parseInt).join(" "));
