/* SPDX-License-Identifier: GPL-3.0-or-later
 * The symbols of libcupti.so.13 that libtorch_cpu.so asks for, for machines without CUDA: each returns
 * CUPTI_ERROR_NOT_INITIALIZED, so that the profiler leaves the GPU out. */
enum { kNotInitialized = 15 };
int cuptiActivityDisable(void) { return kNotInitialized; }
int cuptiActivityEnable(void) { return kNotInitialized; }
int cuptiActivityEnableCudaEventDeviceTimestamps(void) { return kNotInitialized; }
int cuptiActivityEnableDriverApi(void) { return kNotInitialized; }
int cuptiActivityEnableRuntimeApi(void) { return kNotInitialized; }
int cuptiActivityFlushAll(void) { return kNotInitialized; }
int cuptiActivityGetNextRecord(void) { return kNotInitialized; }
int cuptiActivityGetNumDroppedRecords(void) { return kNotInitialized; }
int cuptiActivityPopExternalCorrelationId(void) { return kNotInitialized; }
int cuptiActivityPushExternalCorrelationId(void) { return kNotInitialized; }
int cuptiActivityRegisterCallbacks(void) { return kNotInitialized; }
int cuptiActivityRegisterTimestampCallback(void) { return kNotInitialized; }
int cuptiActivitySetAttribute(void) { return kNotInitialized; }
int cuptiEnableCallback(void) { return kNotInitialized; }
int cuptiEnableDomain(void) { return kNotInitialized; }
int cuptiFinalize(void) { return kNotInitialized; }
int cuptiGetCallbackName(void) { return kNotInitialized; }
int cuptiGetResultString(void) { return kNotInitialized; }
int cuptiGetVersion(void) { return kNotInitialized; }
int cuptiSubscribe(void) { return kNotInitialized; }
int cuptiUnsubscribe(void) { return kNotInitialized; }
