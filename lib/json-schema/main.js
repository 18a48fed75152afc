import { useBundledPackages } from '../bundled-packages.js';

// Before any other module of this thread is loaded.
useBundledPackages();
await import('./worker.ts');
