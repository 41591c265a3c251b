// Tables of numbers separated by commas: just enough for the examples.
#ifndef SCMK_EXAMPLE_CSV_HPP
#define SCMK_EXAMPLE_CSV_HPP

#include <cmath>
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

// Shifts and scales each column to mean 0 and variance 1: the columns have units of their own.
inline Table standardized(Table table) {
    const double n = static_cast<double>(table.rows);
    for (std::size_t j = 0; j < table.cols; j++) {
        double mean = 0, variance = 0;
        for (std::size_t i = j; i < table.values.size(); i += table.cols)
            mean += table.values[i] / n;
        for (std::size_t i = j; i < table.values.size(); i += table.cols)
            variance += (table.values[i] - mean) * (table.values[i] - mean) / n;
        const double deviation = variance > 0 ? std::sqrt(variance) : 1;
        for (std::size_t i = j; i < table.values.size(); i += table.cols)
            table.values[i] = (table.values[i] - mean) / deviation;
    }
    return table;
}

#endif
