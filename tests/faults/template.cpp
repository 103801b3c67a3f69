#include <cstdio>
#include <string>
template <typename T> T later(const T &a, const T &b) {
  if (a < b) // FAULT
    return a;
  return b;
}
int main() {
  std::printf("%s\n", later<std::string>("pear", "plum").c_str());
}
