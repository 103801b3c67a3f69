#include <cstdio>
#include <stdexcept>
static int checked(int age) {
  if (age < 0 || age >= 65) // FAULT
    throw std::out_of_range("age");
  return age;
}
int main() {
  int ages[3] = {30, 70, -1}, sum = 0;
  for (int age : ages) {
    try {
      sum += checked(age);
    } catch (const std::out_of_range &error) {
      std::printf("bad %s\n", error.what());
    }
  }
  std::printf("%d\n", sum);
}
