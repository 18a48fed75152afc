import { useBundledPackages } from '../lib/bundled-packages.js';
import { enableCompileCache } from './bootstrap/compile-cache.js';

// Before any other module is loaded. An import statement would load the module before these lines.
enableCompileCache();
useBundledPackages();
const { main } = await import('./bootstrap/main.ts');
await main();
