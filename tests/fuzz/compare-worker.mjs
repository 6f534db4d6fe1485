// @ts-check
/** Purpose: one share of a fuzz run, off the main thread. */
import { parentPort, workerData } from "node:worker_threads";

const { compareCases } = await import(workerData.bundle);
/** @param {number} done */
const onProgress = (done) => parentPort?.postMessage({ done });
parentPort?.postMessage({ result: compareCases({ ...workerData.options, onProgress }) });
