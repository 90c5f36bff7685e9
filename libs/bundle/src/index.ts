export { bundleService } from './bundle-service.ts';
