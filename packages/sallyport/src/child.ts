/**
 * `sallyport/child`: for programs and workers that a runtime started.
 */
export { type ChildRuntime, connectRuntime } from "@sallyport/runtime/child";
