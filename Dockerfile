# docker build -t mayfly .
# docker run -v mayfly:/data -p 25:2525 -p 8425:8425 mayfly --domains inbox.example
# docker exec CONTAINER /mayfly admin key create --plan dev
#
# The builder runs as this machine does, and builds for the platform asked for:
# docker buildx build --platform linux/amd64,linux/arm64 .
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS TARGETARCH
WORKDIR /src
COPY go.mod go.sum go.work ./
COPY packaging/modules packaging/modules
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags='-s -w' -o /image/mayfly . && \
    mkdir -p /image/etc/ssl/certs && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ && \
    echo 'mayfly:x:65532:65532::/data:/' >/image/etc/passwd && echo 'mayfly:x:65532:' >/image/etc/group && \
    mkdir -m 1777 /image/tmp && mkdir /owned && mkdir -m 0700 /owned/data

# Of a directory that is copied only what is in it keeps its mode.
FROM scratch
COPY --from=build /image /
COPY --from=build --chown=65532:65532 /owned /
USER 65532:65532
VOLUME /data
EXPOSE 2525 8425
STOPSIGNAL SIGTERM
ENV MAYFLY_SERVE_STORE=/data MAYFLY_SERVE_HTTP=:8425 MAYFLY_SERVE_SMTP=:2525
LABEL org.opencontainers.image.title=Mayfly \
      org.opencontainers.image.description="Temporary email inboxes: the service, with SMTP and REST" \
      org.opencontainers.image.licenses=MIT \
      org.opencontainers.image.source=https://example.com/mayfly/mayfly
HEALTHCHECK --interval=10s --timeout=6s --start-period=10s CMD ["/mayfly", "health"]
ENTRYPOINT ["/mayfly", "serve"]
