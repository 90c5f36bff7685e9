interface LocalVariable {
  /** The default, described in words if there is no fixed value. */
  readonly default: string;
  readonly description: string;
}

/**
 * The environment variables that concern only the local stack, by name. The services' variables, such as their ports,
 * are in the services' own schemas. docs/configuration.md is generated from both.
 */
export const localVariables = {
  LOCAL_MONGO_PORT: { default: '27117', description: "Port of the stack's own MongoDB" },
  LOCAL_REDIS_PORT: { default: '6479', description: "Port of the stack's own Redis" },
  LOCAL_SUBSCRIBER_PORT: {
    default: '8090',
    description:
      "Port of the playground and of the stack's own subscribers: `curl -N http://127.0.0.1:8090/events` shows the events, `/mail` the mails",
  },
  LOCAL_STAFF_PORT: { default: '8091', description: 'Port of the provider at which staff sign in to the console' },
  LOCAL_DATA_DIR: {
    default: '.data',
    description: 'Directory of everything that is kept between starts: `mongo/`, `redis/`, `keys/`',
  },
  LOCAL_STACK_CACHE_DIR: {
    default: '.cache',
    description: 'Directory of downloaded MongoDB and Redis binaries; several clones may share one',
  },
  LOCAL_MONGOD: {
    default: 'none',
    description: 'Path of the mongod to run, 6.0 or later. None: the first that is found, or a download',
  },
  LOCAL_REDIS_SERVER: {
    default: 'none',
    description:
      'Path of the redis-server or valkey-server to run, 6.2 or later. None: the first that is found, or a download',
  },
  NO_COLOR: { default: 'none', description: 'Set: plain output, as with `npm run up -- --no-color`' },
} as const satisfies Record<string, LocalVariable>;
