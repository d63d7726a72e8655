// Two levels of sorted arrays, in which a binary search is faster than in a tree of nodes, and a tree of the
// widest gaps over the chunks.
#include "memory/region_index.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace eum::mem {
namespace {

std::size_t count_up_to(const std::vector<std::uint64_t>& sorted, std::uint64_t address) {
  return static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), address) - sorted.begin());
}

template <class T>
auto at(std::vector<T>& list, std::size_t index) {
  return list.begin() + static_cast<std::ptrdiff_t>(index);
}

}  // namespace

RegionIndex::Place RegionIndex::upper(std::uint64_t address) const {
  // Usually there are few regions: a single chunk needs no search.
  const std::size_t after = chunks_.size() == 1 ? 1 : count_up_to(firsts_, address);
  if (after == 0) return {0, 0};
  return {after - 1, count_up_to(chunks_[after - 1]->starts, address)};
}

const Region* RegionIndex::region(std::size_t chunk, std::size_t at) const {
  if (chunk < chunks_.size() && at == chunks_[chunk]->entries.size()) ++chunk, at = 0;
  return chunk < chunks_.size() ? &chunks_[chunk]->entries[at]->region : nullptr;
}

const Region* RegionIndex::below(std::uint64_t address) const {
  const Place place = upper(address);
  return place.at == 0 ? nullptr : &chunks_[place.chunk]->entries[place.at - 1]->region;
}

const Region* RegionIndex::above(std::uint64_t address) const {
  const Place place = upper(address);
  return region(place.chunk, place.at);
}

std::size_t RegionIndex::next_chunk(std::size_t first, std::uint64_t bytes) const {
  if (first >= chunks_.size()) return chunks_.size();
  // Ascend while the subtree that begins at `first` has no such gap, then descend to its leftmost leaf that
  // has one.
  std::size_t node = leaves_ + first;
  while (widest_[node] < bytes) {
    while (node % 2 == 1) node /= 2;  // a right child: what follows begins at an ancestor's right sibling
    if (node == 0) return chunks_.size();
    ++node;
  }
  while (node < leaves_) node = widest_[2 * node] >= bytes ? 2 * node : 2 * node + 1;
  return node - leaves_;
}

const Region* RegionIndex::next_gap(const Region* from, std::uint64_t bytes) const {
  const auto search = [&](std::size_t chunk, std::size_t first) -> const Region* {
    const auto& gaps = chunks_[chunk]->gaps;
    for (std::size_t i = first; i < gaps.size(); ++i)
      if (gaps[i] >= bytes) return region(chunk, i);
    return nullptr;
  };
  std::size_t chunk = 0;
  if (from != nullptr) {
    const Place place = upper(from->address);
    if (const Region* found = search(place.chunk, place.at)) return found;
    chunk = place.chunk + 1;
  }
  chunk = next_chunk(chunk, bytes);
  return chunk < chunks_.size() ? search(chunk, 0) : nullptr;
}

void RegionIndex::set_widest(std::size_t chunk) {
  std::size_t node = leaves_ + chunk;
  widest_[node] = std::ranges::max(chunks_[chunk]->gaps);
  for (node /= 2; node != 0; node /= 2) widest_[node] = std::max(widest_[2 * node], widest_[2 * node + 1]);
}

void RegionIndex::set_gap(std::size_t chunk, std::size_t at) {
  const Region* next = region(chunk, at + 1);
  Chunk& c = *chunks_[chunk];
  c.gaps[at] = (next != nullptr ? next->address : ~std::uint64_t{0}) - c.entries[at]->region.end();
}

std::vector<std::uint64_t> RegionIndex::widest_of_chunks() const {
  const auto first = widest_.begin() + static_cast<std::ptrdiff_t>(leaves_);
  return {first, first + static_cast<std::ptrdiff_t>(chunks_.size())};
}

void RegionIndex::build_tree(std::vector<std::uint64_t> gaps) {
  leaves_ = std::bit_ceil(std::max<std::size_t>(gaps.size(), 1));
  widest_.assign(2 * leaves_, 0);
  std::ranges::copy(gaps, at(widest_, leaves_));
  for (std::size_t node = leaves_ - 1; node != 0; --node)
    widest_[node] = std::max(widest_[2 * node], widest_[2 * node + 1]);
}

void RegionIndex::insert_chunk(std::size_t index, std::unique_ptr<Chunk> chunk) {
  auto gaps = widest_of_chunks();
  gaps.insert(at(gaps, index), std::ranges::max(chunk->gaps));
  firsts_.insert(at(firsts_, index), chunk->starts.front());
  chunks_.insert(at(chunks_, index), std::move(chunk));
  build_tree(std::move(gaps));
}

void RegionIndex::erase_chunk(std::size_t index) {
  auto gaps = widest_of_chunks();
  gaps.erase(at(gaps, index));
  firsts_.erase(at(firsts_, index));
  chunks_.erase(at(chunks_, index));
  build_tree(std::move(gaps));
}

const Region& RegionIndex::insert(Entry entry) {
  auto owned = std::make_unique<Entry>(std::move(entry));
  const Region& region = owned->region;
  ++size_;
  if (chunks_.empty()) {
    auto chunk = std::make_unique<Chunk>();
    chunk->starts.push_back(region.address);
    chunk->gaps.push_back(~std::uint64_t{0} - region.end());
    chunk->entries.push_back(std::move(owned));
    insert_chunk(0, std::move(chunk));
    return region;
  }
  const Place place = upper(region.address);
  Chunk& chunk = *chunks_[place.chunk];
  // Reserve first: once it has begun, an insertion must not fail.
  chunk.starts.reserve(most_entries);
  chunk.gaps.reserve(most_entries);
  chunk.entries.reserve(most_entries);
  chunk.starts.insert(at(chunk.starts, place.at), region.address);
  chunk.gaps.insert(at(chunk.gaps, place.at), 0);
  chunk.entries.insert(at(chunk.entries, place.at), std::move(owned));
  firsts_[place.chunk] = chunk.starts.front();
  set_gap(place.chunk, place.at);
  if (place.at > 0) set_gap(place.chunk, place.at - 1);

  if (chunk.entries.size() >= most_entries) {
    auto upper_half = std::make_unique<Chunk>();
    const std::size_t half = most_entries / 2;
    upper_half->starts.assign(at(chunk.starts, half), chunk.starts.end());
    upper_half->gaps.assign(at(chunk.gaps, half), chunk.gaps.end());
    upper_half->entries.assign(std::make_move_iterator(at(chunk.entries, half)),
                               std::make_move_iterator(chunk.entries.end()));
    chunk.starts.resize(half);
    chunk.gaps.resize(half);
    chunk.entries.resize(half);
    insert_chunk(place.chunk + 1, std::move(upper_half));
  }
  set_widest(place.chunk);
  return region;
}

void RegionIndex::erase(std::uint64_t address) {
  const Place place = upper(address);
  Chunk& chunk = *chunks_[place.chunk];
  const std::size_t where = place.at - 1;
  chunk.starts.erase(at(chunk.starts, where));
  chunk.gaps.erase(at(chunk.gaps, where));
  chunk.entries.erase(at(chunk.entries, where));
  --size_;
  if (chunk.entries.empty()) {
    erase_chunk(place.chunk);
  } else {
    firsts_[place.chunk] = chunk.starts.front();
    set_widest(place.chunk);
  }
  // The gap before the region has grown by the region; it may belong to the previous chunk.
  if (where > 0) {
    set_gap(place.chunk, where - 1);
    set_widest(place.chunk);
  } else if (place.chunk > 0) {
    set_gap(place.chunk - 1, chunks_[place.chunk - 1]->entries.size() - 1);
    set_widest(place.chunk - 1);
  }
}

const Region& RegionIndex::operator[](std::size_t index) const {
  std::size_t chunk = 0;
  while (index >= chunks_[chunk]->entries.size()) index -= chunks_[chunk++]->entries.size();
  return chunks_[chunk]->entries[index]->region;
}

}  // namespace eum::mem
