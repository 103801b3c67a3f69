#include <cstdio>
#include <vector>
int main() {
  std::vector<int> v = {5, 6, 7};
  int sum = 0;
  for (auto it = v.begin(); it + 1 != v.end(); ++it) // FAULT
    sum += *it;
  std::printf("%d\n", sum);
}
