// How scripts/clients has the client in TypeScript generated. Imports name files with their ending, so that Node.js runs
// them as they are.
const [document, folder] = [process.env.CLIENTS_DOCUMENT, process.env.CLIENTS_FOLDER];

export default {
    input: document,
    output: { path: folder, module: { extension: '.ts' } },
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    logs: { level: 'warn', file: false },
};
