// These rules decide about the grids that no kernel has taken up. `plan-schedules` tries them in this order at each
// block. A block about which no rule decides gets single loops. A kernel says what it can do and refuses all else at the
// block. A rule says where that pays.

// Tiles of 16x16 elements are turned in registers, four of them side by side where rows have tiles in fours: their rows
// are a few whole cache lines of one page of the source. Their columns are rows of the result, which are written a few
// elements at a time. Where the first-level cache cannot hold a line of each, as these rows are a multiple of a large
// power of two apart, there are fewer tiles side by side. LLVM takes 10 to 20 ms for the shuffles of a tile, and a map
// that runs once gains that back only where it has more than two million elements, which take a few milliseconds.

pattern.rule "turn-four-tiles" doc "a map of rows to columns turns tiles in registers, four side by side" :
  unordered block(spatial %column in %m, spatial %row in %n, %others... each spatial) {
    (%out[%to...] = %number) as %store } as %block
  => decide(%block, stepwell.tiling = #schedule.transpose<side = 4>) because "rows of the source are columns of the result"
  where walks-apart(%block), %m >= 16, %n >= 16, mod(%m / 16, 4) == 0, lines-together(%store, %column, steps = 64), walks(%store, %row),
    own-dimensions(%store, %row, %column), turns(%block, %row, %column), whole-grid(%block), any-order(%block),
    runs-often(%block, iterations = 2097152)

pattern.rule "turn-two-tiles" doc "a map of rows to columns turns tiles in registers, two side by side" :
  unordered block(spatial %column in %m, spatial %row in %n, %others... each spatial) {
    (%out[%to...] = %number) as %store } as %block
  => decide(%block, stepwell.tiling = #schedule.transpose<side = 2>) because "rows of the source are columns of the result"
  where walks-apart(%block), %m >= 16, %n >= 16, mod(%m / 16, 2) == 0, lines-together(%store, %column, steps = 32), walks(%store, %row),
    own-dimensions(%store, %row, %column), turns(%block, %row, %column), whole-grid(%block), any-order(%block),
    runs-often(%block, iterations = 2097152)

pattern.rule "turn-tiles" doc "a map of rows to columns turns tiles in registers" :
  unordered block(spatial %column in %m, spatial %row in %n, %others... each spatial) {
    (%out[%to...] = %number) as %store } as %block
  => decide(%block, stepwell.tiling = #schedule.transpose<side = 1>) because "rows of the source are columns of the result"
  where walks-apart(%block), %m >= 16, %n >= 16, walks(%store, %row),
    own-dimensions(%store, %row, %column), turns(%block, %row, %column), whole-grid(%block), any-order(%block),
    runs-often(%block, iterations = 2097152)
