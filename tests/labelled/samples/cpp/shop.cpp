// A shop with a till, events and a few coroutines.
#include <map>
#include <memory>
#include <mutex>
#include "shop/item.hpp"

using std::string;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

#define SHOP_LOG(text) std::clog << text << '\n'

namespace shop {

class Item;
enum class Colour : unsigned char { Red, Green = 3 };
using Price = long;
typedef std::map<string, Price> Prices;

template <typename T>
concept Priced = requires(T thing) { thing.price(); };

inline constexpr int kLimit = 10;
static std::mutex guard;

namespace {

int counter = 0;

bool is_open(const string& name) {
    return counter > 0 && !name.empty();
}

}  // namespace

namespace detail::inner {

struct Node final {
    Node* next = nullptr;
    int value{0};

    explicit Node(int v) noexcept : value(v) {}
};

}  // namespace detail::inner

/// What everything sold here can do.
class [[nodiscard]] Seller {
public:
    virtual ~Seller() = default;
    virtual void sell(const Item& item, int count = 1) = 0;
    virtual string name() const;

protected:
    static Seller* current();
    int sold_ = 0;

private:
    Seller(const Seller&) = delete;
    mutable int asked_;
};

template <typename T, int Size = 8>
class Till : public Seller, private detail::inner::Node {
    using Base = Seller;

    T amounts_[Size];
    std::vector<std::unique_ptr<T>> kept_;

public:
    static constexpr int kSize = Size;
    enum Kind { Cash, Card };

    Till() = default;
    explicit Till(std::vector<T>&& amounts, Kind kind = Cash)
        : Node(1), amounts_{}, kept_(), kind_(kind) {
        for (auto& amount : amounts) {
            add(std::move(amount));
        }
    }

    template <typename U>
    void add(U&& amount) {
        kept_.push_back(std::make_unique<T>(std::forward<U>(amount)));
        this->total_ += *kept_.back();
    }

    void sell(const Item& item, int count) override;

    auto begin() const -> const T* { return amounts_; }
    T& operator[](std::size_t index) { return amounts_[index]; }
    operator bool() const { return !kept_.empty(); }
    bool operator==(const Till& other) const = default;

    struct Slip {
        int number;
        string text() const { return std::to_string(number); }
    };

    friend std::ostream& operator<<(std::ostream& out, const Till& till);

private:
    Kind kind_;
    T total_{};
};

template <typename T, int Size>
void Till<T, Size>::sell(const Item& item, int count) {
    std::lock_guard<std::mutex> lock(guard);
    if (count <= 0 or item.price() < 0) {
        throw std::invalid_argument("count");
    }
    try {
        item.reserve(count);
    } catch (const OutOfStock& problem) {
        SHOP_LOG(problem.what());
        throw;
    } catch (...) {
        throw ShopError{"unknown", count};
    }
    sold_ += count;
    slips_[item.id()].count = count;
    ++counter;
}

string Seller::name() const {
    return asked_ ? "asked" : typeid(*this).name();
}

std::ostream& operator<<(std::ostream& out, const Seller& seller) {
    return out << seller.name();
}

Task<int> drain(Channel<Item>& channel, std::function<bool(const Item&)> accept) {
    int sum = 0;
    while (auto item = co_await channel.next()) {
        if (!accept(*item)) continue;
        sum += item->price();
    }
    co_await flush();
    co_return sum;
}

Generator<int> numbers(int from, int to) {
    for (int i = from; i < to; ++i) {
        if (i == 13) break;
        co_yield i;
    }
}

template <typename... Args>
std::unique_ptr<Seller> make_seller(const string& kind, Args&&... args) {
    static const std::map<string, int> kinds{{"till", 1}};
    const auto found = kinds.find(kind);
    const auto& [key, code] = *found;
    switch (code) {
    case 1:
        return std::make_unique<Till<int>>(std::forward<Args>(args)...);
    default:
        return nullptr;
    }
}

void watch(const fs::path& folder, Seller* seller, int (*pick)(int, int)) {
    auto report = [&, count = 0](const auto& entry) mutable {
        if (entry.is_directory()) return count;
        seller->sell(Item::load(entry.path()), ++count);
        return count;
    };
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        report(entry);
    }
    auto* node = new detail::inner::Node(pick(1, 2));
    node->next = static_cast<detail::inner::Node*>(nullptr);
    delete node;
    std::system(folder.c_str());
}

}  // namespace shop

extern "C" {
int shop_open(const char* name);
void shop_close(void) { ::close(3); }
}

int main(int argc, char** argv) {
    auto price = shop::Price{3};
    const string name = argc > 1 ? argv[1] : R"(no "name")";
    shop::Till<int, 4> till{{}};
    till.sell(shop::Item{name}, 2);
    string* text = &const_cast<string&>(name);
    text->append("!");
    *text = name;
    return price == 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}

SHOP_BEGIN_NAMESPACE

class Shop::Drawer {
public:
    SHOP_INLINE std::string label() const SHOP_NOEXCEPT { return shop_label(); }
};

SHOP_INLINE Shop::Drawer::~Drawer() SHOP_NOEXCEPT
{
    release();
}

Shop::Drawer::operator bool() const { return opened(); }

template <> struct std::hash<Shop> {
    size_t operator()(const Shop &shop) const { return shop.number(); }
};

typedef const Shop &shop_ref;
