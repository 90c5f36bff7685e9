export { bundleService } from './bundle-service.ts';
export { closureOf, packagesOf } from './packages.ts';
