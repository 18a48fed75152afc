import { enableCompileCache } from './bootstrap/compile-cache.ts';
import { limitYoungGeneration } from './bootstrap/young-generation.ts';

// Before any other module is loaded. An import statement would load the module before this line.
enableCompileCache();
limitYoungGeneration();
await import('./bootstrap/main.ts');
