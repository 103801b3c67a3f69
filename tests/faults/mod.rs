//! Programs with one fault each, in C, C++ and Rust: for each it is known where `stripe locate` ranks the faulty line.

/// A program with one fault, in the line that holds FAULT.
pub(crate) struct Fault {
    /// The name of its source file, which tells the language.
    pub(crate) file: &'static str,
    pub(crate) source: &'static str,
    pub(crate) correct: &'static str,
    /// The faulty line, or the one beside what is missing, stands there or before. `None` if it is not in the ranking:
    /// no statement begins in it, because the compiler has what it reads in registers already.
    pub(crate) rank: Option<u64>,
}

pub(crate) const FAULTS: [Fault; 39] = [
    Fault {
        file: "off-by-one-low.c",
        source: "#include <stdio.h>\nint main(void) { int v[4] = {1, 2, 3, 9};\n  int best = v[0];\n  for (int i = 1; i < 3; i++) // FAULT\n    if (v[i] > best)\n      best = v[i];\n  printf(\"%d\\n\", best);\n  return 0; }\n",
        correct: "9\n",
        rank: Some(1),
    },
    Fault {
        file: "off-by-one-high.c",
        source: "#include <stdio.h>\nint main(void) { int v[5] = {1, 2, 3, 4, 100};\n  int sum = 0;\n  for (int i = 0; i <= 4; i++) // FAULT\n    sum += v[i];\n  printf(\"%d\\n\", sum);\n  return 0; }\n",
        correct: "10\n",
        rank: Some(2),
    },
    Fault {
        file: "wrong-condition.c",
        source: "#include <stdio.h>\nint main(void) { int v[4] = {-3, 5, -2, 4};\n  int n = 0;\n  for (int i = 0; i < 4; i++)\n    if (v[i] < 0) // FAULT\n      n++;\n  printf(\"positive %d\\n\", n + (n == 2));\n  return 0; }\n",
        correct: "positive 1\n",
        rank: Some(2),
    },
    Fault {
        file: "negated-condition.c",
        source: "#include <stdio.h>\nint even(int n) {\n  if (n % 2 != 0) // FAULT\n    return 1;\n  return 0;\n}\nint main(void) {\n  printf(\"%d\\n\", even(4));\n  return 0; }\n",
        correct: "1\n",
        rank: Some(1),
    },
    Fault {
        file: "missing-guard.c",
        source: "#include <stdio.h>\nint main(void) { int v[3] = {4, 0, 2};\n  for (int i = 0; i < 3; i++) {\n    int q = v[i] == 0 ? 9 : 8 / v[i]; // FAULT\n    printf(\"%d\\n\", q);\n  }\n  return 0; }\n",
        correct: "2\n4\n",
        rank: Some(3),
    },
    Fault {
        file: "surplus-statement.c",
        source: "#include <stdio.h>\nint main(void) { int sum = 0;\n  for (int i = 1; i <= 4; i++) {\n    sum += i;\n    if (i == 3)\n      sum = sum * 2; // FAULT\n  }\n  printf(\"%d\\n\", sum);\n  return 0; }\n",
        correct: "10\n",
        rank: Some(3),
    },
    Fault {
        file: "surplus-call.c",
        source: "#include <stdio.h>\nstatic void log_it(int n) { printf(\"debug %d\\n\", n); }\nint main(void) {\n  printf(\"one\\n\");\n  log_it(5); // FAULT\n  printf(\"two\\n\");\n  return 0; }\n",
        correct: "one\ntwo\n",
        rank: Some(2),
    },
    Fault {
        file: "early-return.c",
        source: "#include <stdio.h>\nint find(const int *v, int n, int x) {\n  for (int i = 0; i < n; i++) {\n    if (v[i] >= x) // FAULT\n      return i;\n  }\n  return -1;\n}\nint main(void) { int v[4] = {9, 3, 5, 7};\n  printf(\"%d\\n\", find(v, 4, 5));\n  return 0; }\n",
        correct: "2\n",
        rank: Some(1),
    },
    Fault {
        file: "missing-break.c",
        source: "#include <stdio.h>\nint main(void) { int v[4] = {1, 7, 7, 2};\n  int at = -1;\n  for (int i = 0; i < 4; i++)\n    if (v[i] == 7) // FAULT\n      at = i;\n  printf(\"%d\\n\", at);\n  return 0; }\n",
        correct: "1\n",
        rank: Some(2),
    },
    Fault {
        file: "wrong-loop-bound.c",
        source: "#include <stdio.h>\nint main(void) { int f = 1, n = 5;\n  for (int i = 1; i < n; i++) // FAULT\n    f *= i;\n  printf(\"%d\\n\", f);\n  return 0; }\n",
        correct: "120\n",
        rank: Some(1),
    },
    Fault {
        file: "swapped-branches.c",
        source: "#include <stdio.h>\nint main(void) { int a = 3, b = 8, m;\n  if (a > b)\n    m = b;\n  else\n    m = a; // FAULT\n  printf(\"max %d\\n\", m);\n  return 0; }\n",
        correct: "max 8\n",
        rank: Some(4),
    },
    Fault {
        file: "wrong-initial-value.c",
        source: "#include <stdio.h>\nint main(void) { int v[3] = {4, 2, 9};\n  int least = 0; // FAULT\n  for (int i = 0; i < 3; i++)\n    if (v[i] < least)\n      least = v[i];\n  printf(\"%d\\n\", least);\n  return 0; }\n",
        correct: "2\n",
        rank: Some(3),
    },
    Fault {
        file: "wrong-case.c",
        source: "#include <stdio.h>\nint days(int m) {\n  switch (m) { // FAULT\n  case 2: return 28;\n  case 4: case 6: case 9: return 30;\n  default: return 31;\n  }\n}\nint main(void) {\n  printf(\"%d\\n\", days(11));\n  return 0; }\n",
        correct: "30\n",
        rank: Some(6),
    },
    Fault {
        file: "and-for-or.c",
        source: "#include <stdio.h>\nint main(void) { int c = 'x', vowel = 0;\n  const char *t = \"axe\";\n  for (; *t; t++) { c = *t;\n    if (c == 'a' && c != 'e') // FAULT\n      vowel++;\n  }\n  printf(\"%d\\n\", vowel);\n  return 0; }\n",
        correct: "2\n",
        rank: Some(2),
    },
    Fault {
        file: "endless.c",
        source: "#include <stdio.h>\nint main(void) { int a = 12, b = 18, c = 0;\n  while (a != b) {\n    if (a > b)\n      a = a - b;\n    else\n      b = b - c; // FAULT\n  }\n  printf(\"gcd %d\\n\", a);\n  return 0; }\n",
        correct: "gcd 6\n",
        rank: Some(3),
    },
    Fault {
        file: "crash.c",
        source: "#include <stdio.h>\nstruct node { int value; struct node *next; };\nint main(void) { struct node last = {2, NULL}, first = {1, &last};\n  struct node *at = &first; int sum = 0;\n  for (int i = 0; i < 3; i++) { // FAULT\n    sum += at->value;\n    at = at->next;\n  }\n  printf(\"%d\\n\", sum);\n  return 0; }\n",
        correct: "3\n",
        rank: Some(1),
    },
    Fault {
        file: "missing-output.c",
        source: "#include <stdio.h>\nint main(void) { int found = 0;\n  for (int i = 0; i < 3; i++)\n    if (i > 5) // FAULT\n      found = 1;\n  if (found)\n    printf(\"found\\n\");\n  printf(\"done\\n\");\n  return 0; }\n",
        correct: "found\ndone\n",
        rank: Some(2),
    },
    Fault {
        file: "surplus-output.c",
        source: "#include <stdio.h>\nint main(void) {\n  for (int i = 0; i < 4; i++) // FAULT\n    printf(\"%d\\n\", i);\n  return 0; }\n",
        correct: "0\n1\n2\n",
        rank: Some(2),
    },
    Fault {
        file: "missing-reset.c",
        source: "#include <stdio.h>\nint main(void) { int v[2][2] = {{1, 2}, {3, 4}};\n  int sum = 0; // FAULT\n  for (int i = 0; i < 2; i++) {\n    for (int j = 0; j < 2; j++)\n      sum += v[i][j];\n    printf(\"%d\\n\", sum);\n  }\n  return 0; }\n",
        correct: "3\n7\n",
        rank: Some(8),
    },
    Fault {
        file: "wrong-variable.c",
        source: "#include <stdio.h>\nint main(void) { int width = 3, height = 4;\n  int area = width * width; // FAULT\n  printf(\"%d\\n\", area);\n  return 0; }\n",
        correct: "12\n",
        rank: Some(3),
    },
    Fault {
        file: "wrong-operator.c",
        source: "#include <stdio.h>\nint main(void) { int a = 7, b = 2;\n  int rest = a / b; // FAULT\n  printf(\"%d\\n\", rest);\n  return 0; }\n",
        correct: "1\n",
        rank: Some(3),
    },
    Fault {
        file: "recursion.c",
        source: "#include <stdio.h>\nint power(int b, int e) {\n  if (e == 1) // FAULT\n    return 1;\n  return b * power(b, e - 1);\n}\nint main(void) {\n  printf(\"%d\\n\", power(2, 5));\n  return 0; }\n",
        correct: "32\n",
        rank: Some(2),
    },
    Fault {
        file: "string-end.c",
        source: "#include <stdio.h>\nint main(void) { const char *t = \"abc\"; int n = 0;\n  while (t[n + 1]) // FAULT\n    n++;\n  printf(\"%d\\n\", n);\n  return 0; }\n",
        correct: "3\n",
        rank: Some(2),
    },
    Fault {
        file: "wrong-sign.c",
        source: "#include <stdio.h>\nint main(void) { int balance = 10;\n  int moves[3] = {5, -3, 4};\n  for (int i = 0; i < 3; i++)\n    if (moves[i] > 0)\n      balance -= moves[i]; // FAULT\n    else\n      balance += moves[i];\n  printf(\"%d\\n\", balance);\n  return 0; }\n",
        correct: "16\n",
        rank: Some(6),
    },
    Fault {
        file: "exception.cpp",
        source: include_str!("exception.cpp"),
        correct: "bad age\n100\n",
        rank: Some(1),
    },
    Fault { file: "uncaught.cpp", source: include_str!("uncaught.cpp"), correct: "1\n", rank: Some(1) },
    Fault { file: "template.cpp", source: include_str!("template.cpp"), correct: "plum\n", rank: Some(1) },
    Fault { file: "lambda.cpp", source: include_str!("lambda.cpp"), correct: "above 15: 3\n", rank: None },
    Fault { file: "iterator.cpp", source: include_str!("iterator.cpp"), correct: "18\n", rank: Some(2) },
    Fault {
        file: "operator.cpp",
        source: include_str!("operator.cpp"),
        correct: "change 370\n",
        rank: Some(2),
    },
    Fault { file: "virtual.cpp", source: include_str!("virtual.cpp"), correct: "25\n", rank: Some(1) },
    Fault { file: "unwrap.rs", source: include_str!("unwrap.rs"), correct: "3 words\n1\n", rank: Some(1) },
    Fault { file: "index.rs", source: include_str!("index.rs"), correct: "9\n", rank: Some(1) },
    Fault { file: "generic.rs", source: include_str!("generic.rs"), correct: "5\n1.5\n", rank: None },
    Fault { file: "closure.rs", source: include_str!("closure.rs"), correct: "24\n", rank: None },
    Fault { file: "filter.rs", source: include_str!("filter.rs"), correct: "[2, 4, 6]\n", rank: Some(1) },
    Fault { file: "range.rs", source: include_str!("range.rs"), correct: "120\n", rank: Some(1) },
    Fault {
        file: "question_mark.rs",
        source: include_str!("question_mark.rs"),
        correct: "sum 12\n",
        rank: Some(1),
    },
    Fault { file: "trait.rs", source: include_str!("trait.rs"), correct: "25\n", rank: None },
];
