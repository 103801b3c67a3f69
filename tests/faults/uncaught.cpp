#include <cstdio>
#include <vector>
int main() {
  std::vector<int> v = {3, 1, 2};
  int least = v.at(0);
  for (unsigned i = 1; i <= v.size(); i++) { // FAULT
    if (v.at(i) < least)
      least = v.at(i);
  }
  std::printf("%d\n", least);
}
