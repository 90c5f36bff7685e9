import { configurationSections } from './configuration-page.ts';
import { generateSections } from './page-sections.ts';

/** Writes docs/configuration.md's tables from the configuration schemas. With --check it only compares. */

const configuration = configurationSections();
generateSections({ page: 'docs/configuration.md', generator: 'config', sections: { configuration } });
