// The page: a bar chart in SVG and a table for each record, in the colours of the browser's theme.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "perf/report.hpp"

namespace eum::perf {
namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Eumulate against PoCL and C++</title>
<style>
:root { color-scheme: light dark; --good: #2a8f5b; --bad: #c4503c; --native: #3f6fb5; --line: #8884; }
body { font: 14px/1.4 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
svg text { fill: currentColor; font-size: 12px; }
.wide { overflow-x: auto; }
</style></head><body>
<h1>Eumulate against PoCL and C++</h1>
<p>Bars: the time of Eumulate over that of PoCL, on a logarithmic scale; left of 1 Eumulate is faster. The line across a
bar's end is the 95&nbsp;% interval of the ratio, the diamond is C++ over PoCL.</p>
)";

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

struct Bar {
  const KernelRecord* kernel;
  Ratio to_pocl;
  std::optional<Ratio> native;
};

/// Position on a logarithmic axis from 1/128 to 32.
double position(double value) {
  constexpr double left = 170, width = 760, low = -7, high = 5;
  return left + width * (std::clamp(std::log2(value), low, high) - low) / (high - low);
}

std::string chart(const Record& record) {
  std::vector<Bar> bars;
  for (const KernelRecord& kernel : record.kernels)
    if (const auto r = ratio(record, kernel, kEumulate, kPocl))
      bars.push_back({&kernel, *r, ratio(record, kernel, kNative, kPocl)});
  std::stable_sort(bars.begin(), bars.end(),
                   [](auto& a, auto& b) { return a.to_pocl.median > b.to_pocl.median; });
  const double row = 18, top = 24, height = top + row * static_cast<double>(bars.size()) + 6;
  std::string svg = fmt::format("<svg viewBox=\"0 0 1000 {0:.0f}\" width=\"100%\" role=\"img\">\n", height);
  for (int power = -7; power <= 5; power++) {
    const double x = position(std::exp2(power));
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"18\" y2=\"{1:.0f}\" stroke=\"{2}\"/><text x=\"{0:.1f}\" "
        "y=\"13\" "
        "text-anchor=\"middle\">{3}</text>\n",
        x, height, power == 0 ? "currentColor" : "var(--line)",
        power < 0 ? fmt::format("1/{}", 1 << -power) : fmt::format("{}", 1 << power));
  }
  for (size_t i = 0; i < bars.size(); i++) {
    const Bar& bar = bars[i];
    const double y = top + row * static_cast<double>(i), one = position(1), x = position(bar.to_pocl.median);
    svg += fmt::format("<text x=\"162\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", y + 11,
                       escaped(bar.kernel->name));
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"12\" fill=\"var(--{})\"/>",
                       std::min(one, x), y + 1, std::max(1.0, std::abs(x - one)),
                       bar.to_pocl.median <= 1 ? "good" : "bad");
    svg += fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"currentColor\"/>",
                       position(bar.to_pocl.interval.low), y + 7, position(bar.to_pocl.interval.high));
    if (bar.native)
      svg += fmt::format("<path d=\"M{0:.1f} {1:.1f}l4 5l-4 5l-4 -5z\" fill=\"var(--native)\"/>",
                         position(bar.native->median), y + 2);
    svg += fmt::format("<text x=\"940\" y=\"{:.1f}\">{:.3f}</text>\n", y + 11, bar.to_pocl.median);
  }
  return svg + "</svg>\n";
}

/// Converts the rows of the Markdown table to an HTML table.
std::string table(const std::string& text) {
  std::string result = "<div class=\"wide\"><table>\n", notes;
  size_t rows = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (line.starts_with("- ")) notes += fmt::format("<li>{}</li>\n", escaped(line.substr(2)));
    if (!line.starts_with('|') || line.starts_with("|---")) continue;
    const std::string_view tag = rows++ == 0 ? "th" : "td";
    result += "<tr>";
    for (size_t from = 1; from < line.size();) {
      const size_t bar = std::min(line.find('|', from), line.size());
      result += fmt::format("<{0}>{1}</{0}>", tag, escaped(line.substr(from, bar - from)));
      from = bar + 1;
    }
    result += "</tr>\n";
  }
  result += "</table></div>\n";
  return notes.empty() ? result : result + "<ul>\n" + notes + "</ul>\n";
}

}  // namespace

std::string html(std::span<const Record> records) {
  std::string page(kHead);
  for (const Record& record : records)
    page += fmt::format(
        "<h2>{}, {} worker{}</h2>\n<p>Geometric means: {:.3f} of PoCL's time, {:.3f} of that of "
        "C++.</p>\n{}{}",
        escaped(record.host), record.workers, record.workers == 1 ? "" : "s",
        geometric_mean(record, kEumulate, kPocl), geometric_mean(record, kEumulate, kNative), chart(record),
        table(markdown(record)));
  return page + "</body></html>\n";
}

}  // namespace eum::perf
