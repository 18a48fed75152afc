/**
 * With `--import`, writes the URLs of all modules that the program has loaded to the file in TEST_LOADED_MODULES, one a line, when
 * the program exits.
 */
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const urls: string[] = [];
registerHooks({
  load(url, context, nextLoad) {
    urls.push(url);
    return nextLoad(url, context);
  },
});
process.on('exit', () => writeFileSync(process.env.TEST_LOADED_MODULES ?? '', urls.join('\n')));
