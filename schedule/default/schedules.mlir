// These rules decide about the grids that no kernel has taken up. `plan-schedules` tries them in this order at each
// block. A block about which no rule decides gets single loops. A kernel says what it can do and refuses all else at the
// block. A rule says where that pays.

// Tiles of 16x16 elements are turned in registers, four of them side by side where rows have tiles in fours: their rows
// are a few whole cache lines of one page of the source. LLVM takes 10 to 20 ms for the shuffles of a tile, and a copy
// that runs once gains that back only where it has more than two million elements, which take a few milliseconds.

pattern.rule "turn-four-tiles" doc "a copy of rows to columns turns tiles in registers, four side by side" :
  unordered block(spatial %column in %m, spatial %row in %n, %others... each spatial) {
    (%out[%to...] = %source[%from...] as %load) as %store } as %block
  => decide(%block, stepwell.tiling = #schedule.transpose<side = 4>) because "rows of the source are columns of the result"
  where %m >= 16, %n >= 16, mod(%m / 16, 4) == 0, walks(%load, %column), walks(%store, %row),
    own-dimensions(%load, %row, %column), own-dimensions(%store, %row, %column), only-accesses(%block, %load, %store),
    whole-bytes(%load), whole-grid(%block), any-order(%block), runs-often(%block, iterations = 2097152)

pattern.rule "turn-tiles" doc "a copy of rows to columns turns tiles in registers" :
  unordered block(spatial %column in %m, spatial %row in %n, %others... each spatial) {
    (%out[%to...] = %source[%from...] as %load) as %store } as %block
  => decide(%block, stepwell.tiling = #schedule.transpose<side = 1>) because "rows of the source are columns of the result"
  where %m >= 16, %n >= 16, walks(%load, %column), walks(%store, %row),
    own-dimensions(%load, %row, %column), own-dimensions(%store, %row, %column), only-accesses(%block, %load, %store),
    whole-bytes(%load), whole-grid(%block), any-order(%block), runs-often(%block, iterations = 2097152)
