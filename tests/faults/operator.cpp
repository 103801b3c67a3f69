#include <cstdio>
struct Money {
  int cents;
  Money operator-(Money other) const {
    return Money{cents + other.cents}; // FAULT
  }
};
int main() {
  Money paid{500}, price{130};
  std::printf("change %d\n", (paid - price).cents);
}
