import { pathToFileURL } from 'node:url';
import NativeRuntime from './native-runtime.ts';

let runs = 0;

/**
 * Runtime of the tests of all mutants but static ones. The sources stay loaded with all their mutants, one of which is
 * active. The test file itself is loaded anew for each mutant.
 */
export default class MutantRuntime extends NativeRuntime {
  override async unstable_importModule(path: string): Promise<unknown> {
    runs += 1;
    return import(`${pathToFileURL(path).href}?run=${runs}`);
  }
}
