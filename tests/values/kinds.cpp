// Values of kinds that C++ has: classes, references, members of members, inheritance.
#include <cstdio>

namespace shop {
int sold = 2;
enum class Size : short { Small = -1, Large = 7 };
}

struct Point { int x; int y; };

class Account {
public:
    Account(int start) : balance(start), limit{1, 2} {
        opened = true;
    }
    int deposit(int amount) {
        balance += amount;
        return balance;
    }
    int balance;
    Point limit;
    bool opened;
};

class Savings : public Account {
public:
    Savings(int start, double r) : Account(start), rate(r) {
        balance = balance + 1;
    }
    double rate;
};

static void raise(int &value, const int &by) {
    value = value + by;
}

template <typename T> T larger(T one, T other) {
    T result = one;
    if (one < other)
        result = other;
    return result;
}

int main() {
    int plain = 41;
    int &reference = plain;
    reference = reference + 1;
    Point point = {3, 4};
    Point &alias = point;
    alias.y = plain;
    Account account(10);
    int held = account.deposit(5);
    Savings savings(100, 0.25);
    savings.rate = savings.rate * 2;
    shop::Size size = shop::Size::Large;
    char16_t unit = u'\u00e9';
    wchar_t sign = L'w';
    raise(plain, held);
    shop::sold = shop::sold + 3;
    double best = larger(1.5, savings.rate);
    Point grid[2] = {{1, 2}, {3, 4}};
    grid[1].x = point.y;
    int Point::*member = &Point::y;
    int picked = point.*member;
    std::printf("%d %d %d %d %d\n", plain, point.y, account.balance, held, savings.balance);
    std::printf("%g %d %d %d %d\n", savings.rate, int(size), int(unit), int(sign), picked);
    std::printf("%d %g %d %d\n", shop::sold, best, grid[1].x, account.opened);
    return 0;
}
