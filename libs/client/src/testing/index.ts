export { createFakeService, type FakeService } from './fake-service.ts';
export { memoryStorage } from './memory-storage.ts';
