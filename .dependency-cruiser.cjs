/**
 * Architecture rules: who may import whom (test/tools/checks/boundaries.test.ts breaks each on purpose).
 * Where connections are opened and who reads process.env is Biome's to check: see biome.json.
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Modules that need each other are one module, or want a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'services-apart',
      comment: 'Services talk over HTTP, Redis and MongoDB; what they share is a library.',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '(^|/)services/', pathNot: '^services/$1/' },
    },
    {
      name: 'libs-below-services',
      comment: 'A library does not know who uses it.',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '(^|/)services/' },
    },
    {
      name: 'contracts-and-errors-alone',
      comment: 'They are published for internal services: they need no other library of this project.',
      severity: 'error',
      from: { path: '^libs/(contracts|errors)/' },
      to: { path: '(^|/)libs/', pathNot: '^libs/$1/' },
    },
    {
      name: 'verifier-for-internal-services',
      comment:
        'Internal services install it: of this project it needs the error catalogue and Redis, and no service of ours.',
      severity: 'error',
      from: { path: '^libs/verifier/src/', pathNot: '[.]test[.]ts$' },
      to: { path: '(^|/)libs/', pathNot: '^libs/(verifier|errors|redis)/' },
    },
    {
      name: 'client-alone',
      comment: 'Apps install it alone: at run time it needs nothing; its adapter for Node needs files and sockets.',
      severity: 'error',
      from: { path: '^libs/client/src/', pathNot: '[.]test[.]ts$' },
      to: { pathNot: ['^libs/client/src/', '^(node:)?(fs/promises|path|net|diagnostics_channel)$'] },
    },
    {
      name: 'usecases-without-http',
      comment: 'A use case takes an input and gives an output; Express and the routes are around it.',
      severity: 'error',
      from: { path: '^services/[^/]+/src/usecases/' },
      to: { path: ['(^|/)node_modules/(@types/)?express/', '^services/[^/]+/src/http/', '^(node:)?https?$'] },
    },
    {
      name: 'stores-without-http',
      comment: 'A store knows documents, not requests.',
      severity: 'error',
      from: { path: ['^libs/stores/', '^services/[^/]+/src/stores/'] },
      to: {
        path: [
          '(^|/)node_modules/(@types/)?express/',
          '^services/[^/]+/src/http/',
          '(^|/)libs/contracts/src/http/',
          '^(node:)?https?$',
        ],
      },
    },
    {
      name: 'no-tests-in-production',
      comment: 'What runs in production needs no test, nothing that supports tests, and no part of the local stack.',
      severity: 'error',
      from: {
        path: '^(libs|services)/[^/]+/src/',
        pathNot: ['[.](test|fixture)[.]ts$', '^libs/(local-stack|playground)/'],
      },
      to: { path: ['[.](test|fixture)[.]ts$', '^test/', '(^|/)libs/(local-stack|playground)/'] },
    },
    {
      name: 'resolvable',
      comment: 'An import that leads nowhere hides a dependency from every other rule.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: 'swc', // without this line nothing at all is reported under TypeScript 7
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^services/[^/]+/dist/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      mainFields: ['module', 'main'],
    },
  },
};
