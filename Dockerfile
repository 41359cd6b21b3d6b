# Builds the command from this checkout and runs it as a user without rights.
FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm pack --pack-destination /package

FROM node:22-bookworm-slim
COPY --from=build /package /package
RUN npm install --global --no-audit --no-fund /package/*.tgz && rm -r /package
USER node
RUN mkdir -m 700 /home/node/data
ENV NODE_ENV=production XDG_DATA_HOME=/home/node/data
EXPOSE 4010
STOPSIGNAL SIGTERM
# Each check starts a Node process, so checks are rare once the platform is up.
HEALTHCHECK --interval=30s --timeout=3s --start-period=60s --start-interval=2s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4010/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Exits with a usage error unless --public-url names an https URL, or --insecure allows plain http.
ENTRYPOINT ["service-cli", "serve", "--host", "0.0.0.0", "--json"]
