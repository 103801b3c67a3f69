#include <cstdio>
struct Shape {
  virtual ~Shape() {}
  virtual int area() const { return 0; }
};
struct Square : Shape {
  int side;
  explicit Square(int side) : side(side) {}
  int area() const override {
    int area = side;
    if (side > 10) // FAULT
      area = side * side;
    return area;
  }
};
int main() {
  Square square(5);
  const Shape &shape = square;
  std::printf("%d\n", shape.area());
}
