/** One suite, two ways: the service in this process, and the same service through the client over HTTP. */
import { createClient, generateHolderKey, runtimeCredential } from "@sallyport/client";
import { accessPolicySuite } from "@sallyport/server/testing";

accessPolicySuite("the service in this process", async ({ service }) => ({
  guarded: service,
  deciding: service,
}));

accessPolicySuite("the client over HTTP", async (fixture) => {
  const { origin, personHeaders } = fixture;
  const key = await generateHolderKey();
  const credential = runtimeCredential(await fixture.issue(key.thumbprint), key);
  const headers = () => personHeaders;
  return {
    guarded: createClient({ origin, credential, retryMs: 1 }),
    deciding: createClient({ origin, credential: { kind: "person", headers }, retryMs: 1 }),
  };
});
