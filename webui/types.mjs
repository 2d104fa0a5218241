// SPDX-License-Identifier: GPL-2.0-or-later
// Types of openapi.json as the daemon prints it: node types.mjs OPENAPI.json. They are for the compiler alone.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import openapiTS, {astToString} from 'openapi-typescript'

const out = join(dirname(fileURLToPath(import.meta.url)), 'types/openapi.d.ts')
const types = astToString(await openapiTS(JSON.parse(readFileSync(process.argv[2], 'utf8'))))
mkdirSync(dirname(out), {recursive: true})
writeFileSync(out, types)
