#include <cstdio>
template <typename F> int how_many(const int *v, int n, F wanted) {
  int count = 0;
  for (int i = 0; i < n; i++)
    if (wanted(v[i]))
      count++;
  return count;
}
int main() {
  int v[6] = {4, 8, 15, 16, 23, 42}, limit = 15;
  auto wanted = [limit](int x) {
    if (x >= limit) // FAULT
      return true;
    return false;
  };
  std::printf("above %d: %d\n", limit, how_many(v, 6, wanted));
}
