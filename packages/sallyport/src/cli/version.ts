/** Of the product, for people. A test compares it with package.json. */
export const VERSION = "0.1.0";
