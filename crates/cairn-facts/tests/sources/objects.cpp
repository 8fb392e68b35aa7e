// Conditions of C++.
#include <compare>
#include <string>
#include <vector>

struct Point {
    int x;
    int y = 1;
    bool z = false;
    Point(int a, int b) : x(a && b), z(a ? true : b > 1)
    {
        if (x)
            y++;
    }
    explicit Point(int a) : x(a) {}
    bool operator==(const Point &other) const { return x == other.x && y == other.y; }
    ~Point()
    {
        if (z)
            y = 0;
    }
};

struct Flag {
    bool value;
    explicit operator bool() const { return value; }
    bool operator&&(const Flag &other) const { return value && other.value; }
    Flag &operator=(int n)
    {
        value = n > 0 || n < -5;
        return *this;
    }
    Flag(const Flag &) = default;
    Flag(bool b) : value(b) {}
};

template <class T> T pick(T a, T b)
{
    if (a < b && b)
        return b;
    if constexpr (sizeof(T) == 4)
        return a ? a : b;
    else
        return b || a ? a : 0;
}

template <class T> struct Box {
    T content;
    bool holds(T value) const { return content == value || !value; }
};

namespace space {
static int fetch()
{
    static int n = 3;
    return n > 0 ? n-- : 0;
}
}

extern "C" int linkage(int a, int b)
{
    return a || b;
}

int with_default(int a, int b = 1)
{
    return a || b;
}

static auto global = [](int k) { return k > 2 && k < 9; };

int everything(std::string s, std::vector<int> v, int a, int b)
{
    int r = 0;
    if (s == "x" && a)
        r++;
    if (std::string("q") == s && a)
        r++;
    if (std::string("q") == s)
        r++;
    while (std::string("q") == s && b)
        b--;
    for (int e : v) {
        if (e > 1)
            r++;
    }
    for (const std::vector<int>::value_type &e : v)
        r += e || a;
    while (int x = space::fetch()) {
        r += x;
    }
    if (int y = a; y && b)
        r++;
    if (auto p = &r; *p > 2)
        r++;
    if (r++; r > 2)
        r++;
    else
        r--;
    auto l = [&](int k) { return k && a; };
    r += l(1);
    r += [a](int k) { return k || a; }(0);
    Flag p{true}, q{false};
    if (p && q)
        r++;
    if (p)
        r++;
    p = a && b;
    Point u(1, 2), w(3);
    if (u != w)
        r++;
    if (!(u == w) && a)
        r++;
    r += pick(a, b);
    r += pick<long>(a, b);
    r += Box<int>{a}.holds(b) + Box<long>{a}.holds(b);
    if constexpr (sizeof(int) == 4)
        r += a && b;
    else
        r += a || b;
    r += with_default(a) + linkage(a, b) + global(a);
    try {
        if (a)
            throw 1;
    } catch (int e) {
        if (e && b)
            r++;
    }
    r += a ? b : s.size() > 1 ? 1 : 2;
    int *pointer = a && b ? new int(a || b) : nullptr;
    delete pointer;
    std::string t = a ? "x" : s;
    static int once = a && b;
    struct Local {
        int n;
        bool even() const { return n % 2 == 0 || n == 1; }
    } local{a};
    r += local.even() and once;
    switch (int z = a; z) {
    case 1:
        r++;
        [[fallthrough]];
    default:
        break;
    }
    if (a) [[likely]]
        r++;
    return r;
}

int main(int argc, char **)
{
    everything("x", {1, 2}, argc - 1, 0);
    everything("q", {}, argc, 1);
    return 0;
}
