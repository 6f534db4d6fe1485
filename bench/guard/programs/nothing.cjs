// @ts-check
/** Purpose: a program that does nothing, so that only starting is measured. */
process.exitCode = 0;
