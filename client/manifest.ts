// The package.json of `@billhook/client`.

export function clientManifest(version: string) {
  return {
    name: '@billhook/client',
    version,
    description: 'Typed client of the Billhook API: billing, time tracking, documents and webhooks',
    keywords: ['billhook', 'billing', 'invoices', 'time-tracking', 'webhooks', 'api-client'],
    license: 'Apache-2.0',
    type: 'module',
    sideEffects: false,
    types: './index.d.ts',
    exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
    files: ['**/*.js', '**/*.d.ts'],
    engines: { node: '>=20' },
    publishConfig: { access: 'public' },
  };
}
