// --quiet: nothing is said where all holds.
#pragma once

namespace bitwell::cli {

// From here on the standard output is kept back, and there is no progress.
void keep_back();
// Ends that: what was kept back is printed where `status` is not that of what held. False where it cannot be.
bool let_out(int status);

}  // namespace bitwell::cli
