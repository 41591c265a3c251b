function X = noise(n, d, start)
% n samples of d numbers from 0 to 1 without any structure; always the same for the same start.
X = reshape(mod(43758.5453 * sin(start + (1:n * d)), 1), n, d);
end
