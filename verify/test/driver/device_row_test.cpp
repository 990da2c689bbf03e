// What a program is told of its device, against the table that launches are run by.
#include "verify/driver/device_row.h"

#include <driver_types.h>
#include <gtest/gtest.h>

#include "model/machine/failure.h"

namespace bitwell::driver {
namespace {

TEST(DeviceRow, AProgramIsToldTheMultiprocessorsOfTheDeviceThatIsNamed) {
  EXPECT_EQ(device_row("sm_75").name, "NVIDIA T4");
  EXPECT_EQ(attribute(device_row("sm_75"), cudaDevAttrMultiProcessorCount), 40);
  EXPECT_EQ(attribute(device_row("sm_80"), cudaDevAttrMultiProcessorCount), 108);
  EXPECT_EQ(attribute(device_row("90a"), cudaDevAttrMultiProcessorCount), 132);
  EXPECT_EQ(attribute(device_row("sm_110"), cudaDevAttrMultiProcessorCount), 20);
  for (const machine::Product& p : machine::kProducts) {
    EXPECT_EQ(&device_row(p.sm), &p);
    EXPECT_EQ(attribute(p, cudaDevAttrMultiProcessorCount), static_cast<int>(p.size.sms)) << p.name;
  }
}

TEST(DeviceRow, TheFirstThatRunsItIsShown) {
  EXPECT_EQ(device_for(87).name, "NVIDIA L40S");
  EXPECT_EQ(device_for(90).name, "NVIDIA H200");
  EXPECT_THROW(device_row("sm_87"), machine::InputError);
}

}  // namespace
}  // namespace bitwell::driver
