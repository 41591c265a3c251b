// Tables of numbers separated by commas: just enough for the examples.
#ifndef SCMK_EXAMPLE_CSV_HPP
#define SCMK_EXAMPLE_CSV_HPP

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct Table {
    std::size_t rows = 0, cols = 0;
    std::vector<double> values; // row after row: entry (i, j) is values[i * cols + j]
};

inline Table read_csv(const std::string &path) {
    std::ifstream file(path);
    if (!file)
        throw std::runtime_error(path + ": cannot be read");
    Table table;
    for (std::string line; std::getline(file, line) && !line.empty(); table.rows++) {
        std::istringstream fields(line);
        for (std::string field; std::getline(fields, field, ',');) {
            char *end = nullptr;
            table.values.push_back(std::strtod(field.c_str(), &end));
            if (end == field.c_str() || (*end != '\0' && *end != '\r'))
                throw std::runtime_error(path + ": '" + field + "' is not a number");
        }
        if (table.rows == 0)
            table.cols = table.values.size();
        if (table.values.size() != (table.rows + 1) * table.cols)
            throw std::runtime_error(path + ": line " + std::to_string(table.rows + 1) +
                                     " has another number of fields than the first");
    }
    return table;
}

#endif
