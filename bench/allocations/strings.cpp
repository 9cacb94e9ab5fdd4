// Strings that are too long for their own place, streams, and memory that is left to shared owners.
#include <assay.h>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

static uint64_t strings(const uint8_t *data, size_t size)
{
    std::vector<std::string> lines;
    for (size_t at = 0; at + 40 <= size; at += 40) {
        lines.emplace_back(reinterpret_cast<const char *>(data) + at, 40);
        lines.back() += "behind it";
    }
    uint64_t total = 0;
    for (const std::string &line : lines) {
        total += line.size();
    }
    return total;
}

static uint64_t owned(const uint8_t *data, size_t size)
{
    std::vector<std::shared_ptr<uint64_t>> owners;
    std::ostringstream text;
    for (size_t at = 0; at + 40 <= size; at += 40) {
        owners.push_back(std::make_shared<uint64_t>(data[at]));
        owners.push_back(owners.back());
        text << *owners.back() << '\n';
    }
    (void)text.str();
    return size / 40 * 49;
}

ASSAY_VARIANT("strings", strings)
ASSAY_VARIANT("owned", owned)
ASSAY_MAIN()
