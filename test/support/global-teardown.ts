// Stops what global-setup.ts started.

export default async function globalTeardown() {
  await globalThis.billhookBackends?.stop();
}
