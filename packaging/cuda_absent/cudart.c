/* SPDX-License-Identifier: GPL-3.0-or-later
 * The symbols of libcudart.so.13 that libtorch_cpu.so asks for, for machines without CUDA: each says "no device". */
enum { kNoDevice = 100 };
int cudaDeviceSynchronize(void) { return kNoDevice; }
int cudaDriverGetVersion(int *version) { *version = 0; return kNoDevice; }
int cudaGetDeviceCount(int *count) { *count = 0; return kNoDevice; }
int cudaGetDeviceProperties(void *properties, int device) { (void)properties; (void)device; return kNoDevice; }
const char *cudaGetErrorString(int code) { (void)code; return "CUDA is not part of this LibTorch"; }
int cudaRuntimeGetVersion(int *version) { *version = 0; return kNoDevice; }
