#include "jit/passes/row_tiles.hpp"

#include <algorithm>
#include <bit>

namespace eum::jit {
namespace {

using ir::Inst;

/// Whether the stores may be parts of one tile.
bool are_alike(const ir::Function& function, const Inst& a, const Inst& b) {
  ir::MemoryAccess one = function.access(a);
  const ir::MemoryAccess& other = function.access(b);
  one.components = other.components;
  one.several = other.several;
  return one == other && a.type == b.type && a.lanes == b.lanes;
}

/// A store of a tile in which elements have their places, modulo 2^32.
struct PlacedStore {
  const Inst* store;
  std::uint32_t place;
};

/// In the order of memory, if each begins where the one before ends.
std::optional<RowTile> tile_of(const ir::Function& function, std::vector<PlacedStore> stores, TurnSum place) {
  const std::uint32_t any = stores[0].place;
  std::ranges::stable_sort(
      stores, {}, [&](const PlacedStore& one) { return static_cast<std::int32_t>(one.place - any); });
  RowTile tile;
  place.constant = stores[0].place;
  tile.place = place;
  for (const PlacedStore& one : stores) {
    if (one.place != place.constant + tile.bytes) return std::nullopt;
    tile.stores.push_back(one.store);
    tile.bytes += function.access(*one.store).component_count() * ir::size_of(one.store->type);
  }
  const bool adjoins = place.step == tile.bytes || place.step == 0u - tile.bytes;
  return adjoins ? std::optional(std::move(tile)) : std::nullopt;
}

}  // namespace

std::optional<std::vector<RowTile>> tiles_of(const ir::Function& function, const CountedLoop& loop,
                                             TurnValues& values, unsigned lane) {
  struct Group {
    TurnSum near;
    std::vector<PlacedStore> stores;
  };
  std::vector<Group> groups;
  for (const Inst* store : loop.stores()) {
    if (lane >= store->lanes) continue;
    const auto place = values.sum(function.arg(*store, 0), lane);
    if (!place) return std::nullopt;
    auto group = std::ranges::find_if(groups, [&](const Group& other) {
      return other.near.is_near(*place) && are_alike(function, *other.stores[0].store, *store);
    });
    if (group == groups.end()) group = groups.insert(groups.end(), {*place, {}});
    group->stores.push_back({store, place->constant});
  }
  std::vector<RowTile> tiles;
  for (Group& group : groups) {
    auto tile = tile_of(function, std::move(group.stores), group.near);
    if (!tile) return std::nullopt;
    tiles.push_back(std::move(*tile));
  }
  return tiles;
}

bool keeps_order(const ir::Function& function, const CountedLoop& loop, TurnValues& values,
                 const std::vector<RowTile>& tiles, unsigned lane) {
  for (const Inst* load : loop.loads()) {
    const ir::MemoryAccess& from = function.access(*load);
    const auto is_stored = [&](const Inst* store) { return function.access(*store).surface == from.surface; };
    if (lane >= load->lanes || !from.is_fixed_surface() || std::ranges::none_of(loop.stores(), is_stored))
      continue;
    const auto place = values.sum(function.arg(*load, 0), lane);
    if (!place) return false;
    const auto is_own = [&](const RowTile& tile) {
      const ir::MemoryAccess& to = function.access(*tile.stores[0]);
      const std::uint32_t distance = place->constant - tile.place.constant;
      const auto bytes = ir::size_of(load->type) * static_cast<unsigned>(std::bit_width(from.components));
      return to.surface == from.surface && to.offset == from.offset && place->is_near(tile.place) &&
             distance < tile.bytes && tile.bytes - distance >= bytes &&
             std::ranges::all_of(tile.stores, [&](const Inst* store) { return load < store; });
    };
    if (std::ranges::none_of(tiles, is_own)) return false;
  }
  return true;
}

}  // namespace eum::jit
