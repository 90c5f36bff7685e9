import { provideMongodbBinary, provideRedisBinary } from '../src/index.ts';

/**
 * `node find-server.ts mongodb|redis` prints the path of that server's binary. It finds or fetches the binary the same
 * way as `npm run up`.
 */
const log = (line: string) => console.error(line);
const [name] = process.argv.slice(2);
if (name === 'mongodb') console.log(await provideMongodbBinary({ log }));
else if (name === 'redis') console.log(await provideRedisBinary({ log }));
else throw new Error('Usage: find-server.ts mongodb|redis');
