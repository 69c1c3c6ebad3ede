#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

// risk: process.env->system
void build() {
    std::string target = std::getenv("TARGET");
    std::string line = "make " + target;
    std::system(line.c_str());
}

// risk: none (a number)
void build_times() {
    int count = std::stoi(std::getenv("COUNT"));
    std::string line = "make -j " + std::to_string(count);
    std::system(line.c_str());
}

// risk: process.stdin.getline->file.change
void forget() {
    std::string name;
    std::getline(std::cin, name);
    std::filesystem::remove_all("/srv/" + name);
}

// risk: none (replaced)
void forget_nothing() {
    std::string name = std::getenv("NAME");
    name = "none";
    std::filesystem::remove_all("/srv/" + name);
}

// risk: http.request->sql.exec
void by_name(const Request& req, pqxx::work& txn) {
    auto name = req.get_param_value("name");
    txn.exec("SELECT * FROM goods WHERE name = '" + name + "'");
}

// risk: none (quoted)
void by_name_quoted(const Request& req, pqxx::work& txn) {
    auto name = txn.quote(req.get_param_value("name"));
    txn.exec("SELECT * FROM goods WHERE name = " + name);
}

// risk: process.argv->system
int main(int argc, char* argv[]) {
    std::string all;
    for (int i = 1; i < argc; ++i) {
        all += argv[i];
    }
    return std::system(all.c_str());
}

class Tool {
public:
    // risk: cross process.env->system
    void ask() {
        std::string line = std::getenv("LINE");
        run_line(line);
    }

    void run_line(const std::string& line) {
        std::system(line.c_str());
    }

    // risk: cross process.env->system
    void again() {
        std::system(last_line().c_str());
    }

    std::string last_line() {
        std::string line = std::getenv("LAST");
        return line;
    }

    // risk: none (the helper makes a number)
    void nicely() {
        std::string line = "nice -n " + number_of(std::getenv("LEVEL"));
        std::system(line.c_str());
    }

    std::string number_of(const std::string& text) {
        return std::to_string(std::stoi(text));
    }

    // risk: none (in a string and a comment)
    std::string pretend() {
        std::string line = std::getenv("LINE");
        // std::system(line.c_str());
        return "std::system(line.c_str())";
    }

    // risk: none (only compared)
    void choose() {
        bool inside = std::getenv("WHERE") == std::string("inside");
        std::system(inside ? "a" : "b");
    }
};
