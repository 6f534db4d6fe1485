/** The whole client, for pages and dialogs that come after the first load. Shares the sign-in of the page. */
import { adminClientOf } from "@sallyport/client/admin";
import { caller } from "./admin.ts";

export const admin = adminClientOf(caller);
