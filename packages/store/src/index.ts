/**
 * The store: its port and its errors. Engines are at `@sallyport/store/sqlite` and `@sallyport/store/postgres`,
 * so that whoever needs only the port loads no driver.
 */
export * from "./port.ts";
export {
  type Applied,
  StoreConflictError,
  StoreOwnedError,
  type StoreOwner,
  StoreSchemaError,
  StoreUnavailableError,
  StoreUsageError,
  StoreValueError,
} from "./errors.ts";
